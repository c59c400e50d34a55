"""Draft cases from documents by rules: blanks, calculations, contrasts, sections."""
