"""Models, tasks and results of many runs, kept where nothing is lost: tables in a data base, arrays in files beside."""
