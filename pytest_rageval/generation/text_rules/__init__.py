"""Draft cases from documents by rule: blanks, calculations, contrasts, sections. No model, no network."""
