"""Options and ini settings, parsed and checked for form."""
