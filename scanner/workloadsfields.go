package scanner
