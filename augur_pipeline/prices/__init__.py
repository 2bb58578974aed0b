"""Everything that reads usable prices, behind five small tables: no price leaves this room."""
