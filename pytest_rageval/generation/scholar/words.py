"""Words of the invented world; all surnames, places and venues are fictitious."""

from __future__ import annotations

__all__ = [
    "FIELDS", "FINDINGS", "GIVEN_FEMALE", "GIVEN_MALE", "METHODS", "OPENINGS", "PLACES", "POSITIONS", "SETTINGS",
    "STATIONS", "SURNAME_ENDS", "SURNAME_STARTS",
]  # fmt: skip

GIVEN_FEMALE = (
    "Adela", "Beatrix", "Carlotta", "Delphine", "Edith", "Fiona", "Greta", "Henrike", "Imelda", "Josefa", "Katalin",
    "Leonie", "Mathilda", "Noemi", "Odette", "Petra", "Quirina", "Rosalind", "Sunniva", "Theodora", "Ulrike", "Vera",
    "Wilhelmina", "Xenia", "Yolanda", "Zelda", "Bronwyn", "Clementine", "Dagmar", "Esperanza",
)  # fmt: skip
GIVEN_MALE = (
    "Anselm", "Bertrand", "Casimir", "Dietmar", "Emeric", "Florian", "Gustav", "Hendrik", "Ignatius", "Jasper",
    "Konrad", "Lorenz", "Magnus", "Nikolas", "Ottokar", "Philipp", "Quentin", "Ruprecht", "Sebastian", "Tobias",
    "Ulrich", "Vincent", "Wolfgang", "Xaver", "Yannick", "Zacharias", "Balthasar", "Cornelius", "Dominik", "Eberhard",
)  # fmt: skip

SURNAME_STARTS = (
    "Abren", "Balt", "Brack", "Cald", "Corv", "Dask", "Delm", "Dorv", "Eld", "Fenn", "Garv", "Gresk", "Hald", "Ild",
    "Jask", "Jorr", "Keld", "Krum", "Lask", "Lorm", "Marv", "Mell", "Nask", "Norv", "Olm", "Pask", "Pell", "Quill",
    "Rask", "Rend", "Sorv", "Stell", "Tarv", "Tolm", "Ulm", "Vask", "Verr", "Wend", "Yarr", "Zind",
)  # fmt: skip
SURNAME_ENDS = (
    "abeth", "acott", "adellan", "agrune", "alune", "andreth", "anwick", "arvane", "ebrandt", "edoorn", "egrave",
    "eldine", "emoor", "endral", "enshaw", "erloft", "ibald", "idane", "igorn", "imoth", "inver", "iquell", "obrin",
    "odanth", "ograd", "oless", "omere", "onquill", "orvane", "udrick", "umont", "uvell",
)  # fmt: skip

PLACES = (
    "Norhaven", "Tarnwick", "Esselmark", "Quillport", "Varrowmere", "Dunmerel", "Halvesund", "Ostrimond", "Brennock",
    "Calverra", "Pellamere", "Skarholt", "Lindrava", "Morwinter", "Feldanis", "Grauvale", "Sorrinport", "Tellmark",
    "Umbrasund", "Wexhollow", "Yarrowdene", "Zelbruck", "Arnefjell", "Kestrimoor",
)  # fmt: skip

POSITIONS = {
    "Professor": 20, "Other": 16, "Researcher": 14, "Associate Professor": 14, "Assistant Professor": 10,
    "Engineer": 10, "Lecturer": 6, "Associate Researcher": 3, "Ph.D": 3, "Senior Engineer": 2,
    "Assistant Researcher": 2,
}  # fmt: skip
"""Position -> number of persons per hundred, the distribution in R-Eval's task ``profiling``."""

STATIONS = {
    "Professor": "holds a chair", "Other": "is a member of staff", "Researcher": "leads projects of a research group",
    "Associate Professor": "has a tenured post below a chair", "Assistant Professor": "is on the tenure track",
    "Engineer": "builds and runs instruments", "Lecturer": "teaches most of the week",
    "Associate Researcher": "shares in projects of a research group", "Ph.D": "writes a doctoral thesis",
    "Senior Engineer": "heads a workshop for instruments", "Assistant Researcher": "helps in a laboratory",
}  # fmt: skip
"""Position -> its paraphrase in a biography, so readers must infer the position."""

FIELDS = {
    "Soil Science": ("soil salinity", "peat formation", "root networks", "clay minerals", "erosion control",
                     "humus chemistry", "nitrogen cycles", "permafrost thaw"),
    "Acoustics": ("room reverberation", "bell casting", "whale song", "noise barriers", "string vibration",
                  "speech intelligibility", "ultrasound imaging", "organ pipes"),
    "Glaciology": ("ice cores", "crevasse detection", "glacier runoff", "snow albedo", "iceberg drift",
                   "moraine dating", "sea ice thickness", "firn compaction"),
    "Bookbinding History": ("parchment repair", "sewing structures", "gold tooling", "marbled paper",
                            "clasp mechanisms", "library chains", "wooden boards", "endpaper patterns"),
    "Information Retrieval": ("query expansion", "index compression", "relevance feedback", "passage ranking",
                              "spelling correction", "duplicate detection", "click models", "entity linking"),
    "Pollination Biology": ("bumblebee foraging", "nectar guides", "orchid mimicry", "hoverfly migration",
                            "pollen transfer", "night pollinators", "floral scent", "hive temperature"),
    "Bridge Engineering": ("cable fatigue", "arch settlement", "wind flutter", "bearing corrosion", "scour depth",
                           "timber trusses", "load testing", "expansion joints"),
    "Volcanology": ("ash dispersal", "magma viscosity", "fumarole gases", "lava tubes", "crater lakes",
                    "tremor signals", "pumice rafts", "caldera collapse"),
    "Numismatics": ("coin hoards", "die studies", "silver debasement", "mint marks", "weight standards",
                    "token coinage", "counterfeit coins", "medal portraits"),
    "Robotics": ("grasp planning", "legged walking", "tactile sensing", "swarm coordination", "soft actuators",
                 "map merging", "visual odometry", "arm calibration"),
}  # fmt: skip
"""Field -> its topics."""

OPENINGS = (
    "Measuring", "A survey of", "Rethinking", "Simple models of", "The limits of", "Predicting", "Notes on",
    "Comparing records of", "A field guide to", "Open questions about", "New evidence on", "Forty years of",
)  # fmt: skip
SETTINGS = (
    "at low temperature", "with few samples", "under strong wind", "in coastal regions", "across seasons",
    "from noisy records", "in remote areas", "with simple instruments", "at high altitude", "in closed systems",
    "after heavy rain", "on small islands", "in dry years", "at night", "near old harbours", "with shared data",
    "in mountain valleys", "over long distances", "under time pressure", "in northern cities", "with cheap sensors",
    "along river banks", "before restoration", "in public collections",
)  # fmt: skip
METHODS = (
    "a paired comparison", "a Bayesian model", "repeated sampling", "a blind test", "a mixed design", "slow imaging",
    "a time series", "a linear model", "careful weighing", "a small trial", "a long census", "a double count",
)  # fmt: skip
FINDINGS = (
    "explains the variation", "lowers the error", "shortens the work", "raises the yield", "cuts the cost",
    "improves the agreement", "narrows the interval", "halves the losses", "doubles the coverage",
    "removes the bias",
)  # fmt: skip
