"""The server of the local pages: one page on 127.0.0.1, for one person."""
