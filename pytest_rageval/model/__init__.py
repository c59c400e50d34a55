"""The values everything else speaks in: frozen, standard library only."""
