"""How many samples TiC-CLIP's periods have by its paper, beside those at hand.

Tables 11 to 13. People have less: images are gone from the web, and DataComp's pool comes in sizes.
So these numbers inform and judge nothing, unlike those that a folder tells of itself.
"""

from onward.data.counts import Count
from onward.data.tic_folder import TicData

REDCAPS = {"2017": 4_220_262, "2018": 1_660_003, "2019": 2_526_575, "2020": 3_115_715}
YFCC = {
    "2004-2008": 4_337_727,
    "2009-2010": 4_050_166,
    "2011-2012": 3_976_339,
    "2013-2014": 2_312_753,
}
DATACOMP_YEARS = {
    "2014": 244_802_598,
    "2015": 175_648_045,
    "2016": 666_019_511,
    "2017": 1_906_357_755,
    "2018": 1_877_561_875,
    "2019": 2_016_011_588,
    "2020": 1_778_751_066,
    "2021": 2_044_463_701,
    "2022": 1_442_233_121,
}
"""Without a filter. The first period is the first three years."""
_MERGED = {"2016": sum(DATACOMP_YEARS[year] for year in ("2014", "2015", "2016"))}
_TABLES = {
    "TiC-RedCaps": ("Table 11", REDCAPS),
    "TiC-YFCC": ("Table 12", YFCC),
    "TiC-DataComp, yearly": ("Table 13", DATACOMP_YEARS | _MERGED),
}


def published_counts(data: TicData) -> tuple[Count, ...]:
    """Return the paper's number of samples for each period that it has, and the one found."""
    layout = data.layout.removesuffix(", ids joined to shards")
    source, sizes = _TABLES.get(layout, ("", {}))
    return tuple(
        Count(source, f"samples of {period.name}", sizes[period.name], len(period.train))
        for period in data.periods
        if period.name in sizes
    )
