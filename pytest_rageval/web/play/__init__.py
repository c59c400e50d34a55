"""The page of `rageval play`: ask a system, see what it read, change one thing, save the case.

It holds no logic of asking, scoring or saving: `hooks.playing.project.PlayProject` and the functions of the floors
below do that for pytest and the commands, too. `site.play_site` makes the page.
"""
