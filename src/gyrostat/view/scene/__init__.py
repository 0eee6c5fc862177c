"""What is drawn for a model, as plain data: solids on parts that move as one."""
