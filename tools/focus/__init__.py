"""Focus of every policy for each target and budget: `make focus`.

`runs` describes the webs and simulates policies on them, each run once; `report` compares the policies; `__main__` is
the command.
"""
