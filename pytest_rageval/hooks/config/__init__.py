"""Options and ini settings: parse them and check their form."""
