"""Makes pictures with Pillow, and compares how the program reads them: images_pillow.py make | compare."""

import io
import os
import random
import struct
import subprocess
import sys
import zlib

from PIL import Image


def noise(size, seed, mode="RGB"):
    """Smooth enough for JPEG, rough enough to tell rows from columns."""
    rng = random.Random(seed)
    small = Image.new(mode, (max(1, size[0] // 3), max(1, size[1] // 3)))
    bands = len(small.getbands())
    small.putdata([tuple(rng.randrange(256) for _ in range(bands)) if bands > 1 else rng.randrange(256)
                   for _ in range(small.size[0] * small.size[1])])
    return small.resize(size, Image.BILINEAR)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, rows, extra=b""):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + extra + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def make():
    os.makedirs("good")
    for seed, size in enumerate([(1, 1), (2, 7), (33, 21), (64, 64), (100, 3)]):
        name = "good/%dx%d" % size
        picture = noise(size, seed)
        picture.save(name + "-rgb.png")
        picture.convert("L").save(name + "-grey.png")
        picture.convert("RGBA").save(name + "-alpha.png")
        picture.convert("LA").save(name + "-grey-alpha.png")
        picture.quantize(200).save(name + "-palette.png")
        picture.quantize(3).save(name + "-palette-2bit.png")
        picture.convert("1").save(name + "-1bit.png")
        picture.save(name + "-optimised.png", optimize=True)
        picture.save(name + "-444.jpg", quality=95, subsampling=0)
        picture.save(name + "-420.jpg", quality=75, subsampling=2)
        picture.save(name + "-progressive.jpeg", quality=85, progressive=True)
        picture.convert("L").save(name + "-grey.jpg", quality=85)
        picture.save(name + "-restarts.JPG", quality=85, optimize=True)

    # Bombs and ruins.
    rows = b"\0" * 100000
    write("bad/huge.png", png(60000, 60000, 8, 2, rows))
    write("bad/wide.png", png(2**31 - 1, 1, 8, 2, rows))
    write("bad/none.png", png(0, 5, 8, 2, rows))
    write("bad/odd-depth.png", png(5, 5, 3, 2, rows))
    text = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"a" * 200_000_000, 9))
    write("bad/comment-and-short.png", png(64, 64, 8, 2, b"\0" * 10, text))
    good = open("good/33x21-rgb.png", "rb").read()
    write("bad/cut.png", good[: len(good) // 2])
    write("bad/crc.png", good[:60] + bytes([good[60] ^ 1]) + good[61:])
    jpeg = open("good/33x21-444.jpg", "rb").read()
    write("bad/cut.jpg", jpeg[: len(jpeg) * 2 // 3])
    at = jpeg.index(b"\xff\xc0")
    write("bad/huge.jpg", jpeg[: at + 5] + struct.pack(">HH", 65500, 65500) + jpeg[at + 9 :])
    write("bad/text.png", b"this is a text")
    write("bad/empty.jpg", b"")
    cmyk = io.BytesIO()
    noise((20, 20), 5).convert("CMYK").save(cmyk, "JPEG")
    write("bad/cmyk.jpg", cmyk.getvalue())
    # A progressive picture whose last scan is sent ten thousand times.
    progressive = open("good/64x64-progressive.jpeg", "rb").read()
    last = progressive.rindex(b"\xff\xda")
    write("bad/scans.jpg", progressive[:last] + progressive[last:-2] * 10000 + b"\xff\xd9")

    colours = {"red": (200, 40, 40), "green": (40, 200, 40), "blue": (40, 40, 200)}
    rng = random.Random(7)

    def square(colour, size):
        picture = Image.new("RGB", size, (rng.randrange(60), rng.randrange(60), rng.randrange(60)))
        side = min(size) // 2
        left, top = rng.randrange(size[0] - side), rng.randrange(size[1] - side)
        picture.paste(colour, (left, top, left + side, top + side))
        return picture

    def fill(folder, counts, extension="png"):
        for name, count in counts.items():
            os.makedirs(os.path.join(folder, name))
            for i in range(count):
                size = (rng.randrange(14, 30), rng.randrange(14, 30))
                square(colours[name], size).save(os.path.join(folder, name, "%03d.%s" % (i, extension)))

    each = dict.fromkeys(colours, 60)
    fill("squares", each)
    open("squares/notes.txt", "w").write("not a picture")
    fill("divided/train", dict.fromkeys(colours, 10), "jpg")
    fill("divided/test", dict.fromkeys(colours, 20), "jpg")
    fill("device-one", each)
    fill("device-two", {"red": 40, "blue": 40}, "jpg")


def read(path, *size):
    output = subprocess.run([os.environ["IMAGE_READER"], path, *map(str, size)], check=True, stdout=subprocess.PIPE).stdout
    heading, pixels = output.split(b"\n", 1)
    return tuple(map(int, heading.split())), pixels


def compare():
    worst = 0
    for name in sorted(os.listdir("good")):
        path = os.path.join("good", name)
        picture = Image.open(path)
        grey = picture.mode in ("L", "1", "LA")
        picture = picture.convert("L" if grey else "RGB")
        (height, width, channels), pixels = read(path)
        assert (width, height) == picture.size and channels == len(picture.getbands()), name
        difference = max(abs(a - b) for a, b in zip(pixels, picture.tobytes()))
        exact = name.endswith(".png")
        assert len(pixels) == len(picture.tobytes()) and difference <= (0 if exact else 2), (name, difference)
        worst = max(worst, difference)
        if not exact:
            continue
        for size in ((9, 13), (40, 1), (64, 64)):
            (height, width, _), resized = read(path, *size)
            assert (height, width) == size
            assert resized == picture.resize((width, height), Image.BILINEAR).tobytes(), (name, size)
    print("pictures compared with Pillow: %d, JPEG differs by at most %d" % (len(os.listdir("good")), worst))


{"make": make, "compare": compare}[sys.argv[1]]()
