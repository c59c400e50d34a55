"""The page of `rageval play`: ask a system, see what it read, change it, save the case.

It only draws the page, which `site.play_site` makes. `hooks.playing.project.PlayProject` asks, scores and saves, with
the functions that pytest and the commands use.
"""
