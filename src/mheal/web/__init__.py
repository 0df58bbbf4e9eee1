"""The page of `mheal label`: a server for this machine, a project file, and a front end of plain modules."""
