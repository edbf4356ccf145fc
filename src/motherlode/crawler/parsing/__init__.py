"""Parsing of pages in separate processes.

`parser_pool` runs and supervises the parser processes, `worker` is the main function of such a process, `page_parser`
turns a body into statements and links, and `messages` defines the records that the processes exchange.
"""
