"""Make docs/reference/ and docs/llms.txt from the code."""
