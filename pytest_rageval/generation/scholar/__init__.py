"""An invented world of scholars: persons and publications that nobody has to license, with coherent relations."""
