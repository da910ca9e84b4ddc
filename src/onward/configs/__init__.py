"""Published tables, one file each: rows, published values, claims and cost.

To add one, write its file and its line here.
"""

from onward.catalogue import Catalogue
from onward.configs.clad import gap
from onward.configs.clad import table1 as clad_table1
from onward.configs.clad import table2 as clad_table2
from onward.configs.clear import supp4, supp5, supp6, supp7, supp8, supp9, table1, table2
from onward.configs.iirc import buffer, table5, table6, table7
from onward.configs.tic import (
    table4,
    table4_l,
    table4_m,
    table4_redcaps,
    table4_xl,
    table8,
    table8_l,
    table9,
)
from onward.configs.tic import table5 as tic_table5
from onward.configs.tic import table7 as tic_table7
from onward.reproduce.table import PaperTable

_OWN = {
    module.TABLE.name: module.TABLE
    for module in (
        *(table1, table2, supp4, supp5, supp6, supp7, supp8, supp9),
        *(table5, table6, table7, buffer),
        *(clad_table1, clad_table2, gap),
        *(table4, table4_redcaps, table4_m, table4_l, table4_xl),
        *(tic_table5, tic_table7, table8, table8_l, table9),
    )
}


TABLES: Catalogue[PaperTable] = Catalogue("table", _OWN, "onward.tables", PaperTable)
"""By name; a package adds one as a `PaperTable` by an entry point.

>>> TABLES.find("clear/table2").title
'Analysis of biased reservoir sampling'
"""
