"""Review: people say what they see, on a page that Onward serves itself.

A campaign is one SQLite file. `campaign` opens it, `making` fills it with items, `people` lets
annotators in, `assign` chooses what they are asked, `voting` keeps what they say, `dashboard` and
`exchange` read it. `app`, `owner` and `serving` are the web application.
"""
