"""A page of HTML that is one file: a verdict, figures and tables, without a request to a network.

`parts` are what a page is made of, `page` puts them together with ``page.css`` and ``page.js``.
"""
