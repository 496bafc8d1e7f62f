"""The frame of the text pages that are made when the site is built: the lessons and the scoreboard."""


def reading_page(title: str, description: str, body: str, kind: str = "") -> str:
    """`kind`: for a page with its own style sheet, style/KIND.css."""
    style = f'\n    <link rel="stylesheet" href="style/{kind}.css">' if kind else ""
    return f"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{title}</title>
    <meta name="description" content="{description}">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="style/tokens.css">
    <link rel="stylesheet" href="style/page.css">
    <link rel="stylesheet" href="style/reading.css">{style}
  </head>
  <body>
    <main class="{' '.join(['reading', *filter(None, [kind])])}">
      {body}
    </main>
  </body>
</html>
"""
