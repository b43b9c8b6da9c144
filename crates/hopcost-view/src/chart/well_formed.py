import re, sys, xml.etree.ElementTree as tree

text = re.sub(r"(?s)<(style|script)>.*?</\1>", "", sys.stdin.read())
text = re.sub(r"(?i)<!doctype html>|<(meta|br)\b[^<>]*>", "", text)
text = re.sub(r"<[^<>]*>", lambda tag: re.sub(r" (open|hidden)(?=[ >])", "", tag[0]), text)
tree.fromstring(text)
