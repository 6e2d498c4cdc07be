#!/usr/bin/env python3
"""Draws the digits 0-9 of several font families once, into digits.npy and digits.json beside this script.

    pip install numpy pillow
    apt-get install the packages named in FACES below
    ./make_digits.py [--root DIR]        DIR: where the packages are unpacked, default /

digits.npy is u8 [face, digit, 32, 32], ink 255. All digits of a face share one scale: its tallest digit is 28 pixels high.
digits.json names the faces in that order and the families held out for the test set: no face of theirs is trained on.
"""
import argparse
import json
import pathlib

import numpy
from PIL import Image, ImageDraw, ImageFont

SIDE, HEIGHT = 32, 28
HELD_OUT = ["Open Sans", "Caladea"]

FONTS = "usr/share/fonts/"
FACES = [  # family, style, Debian package, file, licence
    ("DejaVu Sans", "Book", "fonts-dejavu-core", "truetype/dejavu/DejaVuSans.ttf", "Bitstream Vera"),
    ("DejaVu Sans", "Bold", "fonts-dejavu-core", "truetype/dejavu/DejaVuSans-Bold.ttf", "Bitstream Vera"),
    ("DejaVu Serif", "Book", "fonts-dejavu-core", "truetype/dejavu/DejaVuSerif.ttf", "Bitstream Vera"),
    ("DejaVu Serif", "Italic", "fonts-dejavu-extra", "truetype/dejavu/DejaVuSerif-Italic.ttf", "Bitstream Vera"),
    ("Liberation Mono", "Regular", "fonts-liberation", "truetype/liberation/LiberationMono-Regular.ttf", "OFL-1.1"),
    ("Liberation Serif", "Regular", "fonts-liberation", "truetype/liberation/LiberationSerif-Regular.ttf", "OFL-1.1"),
    ("Liberation Serif", "Bold", "fonts-liberation", "truetype/liberation/LiberationSerif-Bold.ttf", "OFL-1.1"),
    ("Liberation Sans", "Italic", "fonts-liberation", "truetype/liberation/LiberationSans-Italic.ttf", "OFL-1.1"),
    ("Inter", "Regular", "fonts-inter", "opentype/inter/Inter-Regular.otf", "OFL-1.1"),
    ("Inter", "Bold", "fonts-inter", "opentype/inter/Inter-Bold.otf", "OFL-1.1"),
    ("JetBrains Mono", "Regular", "fonts-jetbrains-mono", "truetype/jetbrains-mono/JetBrainsMono-Regular.ttf", "OFL-1.1"),
    ("Lato", "Light", "fonts-lato", "truetype/lato/Lato-Light.ttf", "OFL-1.1"),
    ("Lato", "Bold", "fonts-lato", "truetype/lato/Lato-Bold.ttf", "OFL-1.1"),
    ("Roboto", "Regular", "fonts-roboto-unhinted", "truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf", "Apache-2.0"),
    ("Comic Neue", "Regular", "fonts-comic-neue", "opentype/comic-neue/ComicNeue-Regular.otf", "OFL-1.1"),
    ("Comic Neue", "Bold", "fonts-comic-neue", "opentype/comic-neue/ComicNeue-Bold.otf", "OFL-1.1"),
    ("Cantarell", "Regular", "fonts-cantarell", "opentype/cantarell/Cantarell-Regular.otf", "OFL-1.1"),
    ("Cabin", "Regular", "fonts-cabin", "opentype/cabin/Cabin-Regular.otf", "OFL-1.1"),
    ("Quicksand", "Medium", "fonts-quicksand", "truetype/quicksand/Quicksand-Medium.ttf", "OFL-1.1"),
    ("Humor Sans", "Regular", "fonts-humor-sans", "truetype/humor-sans/Humor-Sans.ttf", "OFL-1.1"),
    ("Open Sans", "Regular", "fonts-open-sans", "truetype/open-sans/OpenSans-Regular.ttf", "Apache-2.0"),
    ("Open Sans", "Bold", "fonts-open-sans", "truetype/open-sans/OpenSans-Bold.ttf", "Apache-2.0"),
    ("Caladea", "Regular", "fonts-crosextra-caladea", "truetype/crosextra/Caladea-Regular.ttf", "Apache-2.0"),
    ("Caladea", "Italic", "fonts-crosextra-caladea", "truetype/crosextra/Caladea-Italic.ttf", "Apache-2.0"),
]


def draw_face(path):
    probe = ImageFont.truetype(str(path), 400)
    boxes = [probe.getbbox(str(digit)) for digit in range(10)]
    tallest = max(box[3] - box[1] for box in boxes)
    widest = max(box[2] - box[0] for box in boxes)
    scale = min(HEIGHT / tallest, (SIDE - 2) / widest)
    glyphs = numpy.zeros((10, SIDE, SIDE), numpy.uint8)
    for digit in range(10):
        left, top, right, bottom = boxes[digit]
        large = Image.new("L", (right - left, bottom - top), 0)
        ImageDraw.Draw(large).text((-left, -top), str(digit), fill=255, font=probe)
        size = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
        small = large.resize(size, Image.Resampling.BOX)
        glyphs[digit, (SIDE - size[1]) // 2 :][: size[1], (SIDE - size[0]) // 2 :][:, : size[0]] = numpy.asarray(small)
    return glyphs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default="/", help="where the Debian packages are unpacked")
    parser.add_argument("--sheet", help="also draw all glyphs into this PNG, to look at")
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).parent
    glyphs = numpy.stack([draw_face(pathlib.Path(arguments.root) / FONTS / face[3]) for face in FACES])
    numpy.save(here / "digits.npy", glyphs)
    faces = [{"family": f, "style": s, "package": p, "licence": l} for f, s, p, _, l in FACES]
    text = ",\n".join("    " + json.dumps(face) for face in faces)
    (here / "digits.json").write_text(
        '{\n  "held_out": %s,\n  "faces": [\n%s\n  ]\n}\n' % (json.dumps(HELD_OUT), text))
    if arguments.sheet:
        Image.fromarray(glyphs.transpose(0, 2, 1, 3).reshape(len(FACES) * SIDE, 10 * SIDE)).save(arguments.sheet)


if __name__ == "__main__":
    main()
