"""Publishes datasets, objects, prompts and media, and reads them back. Prints what it read, as JSON."""

import json
import sys

import weave
from PIL import Image

client = weave.init(sys.argv[1])

first = weave.publish(weave.Dataset(name="numbers", rows=[{"n": n, "square": n * n} for n in range(5)]))
second = weave.publish(weave.Dataset(name="numbers", rows=[{"n": n, "square": n * n} for n in range(7)]))
weave.publish(weave.Dataset(name="numbers", rows=[{"n": n, "square": n * n} for n in range(7)]))
large = weave.publish(weave.Dataset(name="large", rows=[{"n": n, "text": "ü" * 1000} for n in range(int(sys.argv[2]))]))
settings = weave.publish({"temperature": 0.5, "nested": {"tags": ["a", "b"], "none": None}}, name="settings")
kinds = weave.publish(weave.Dataset(name="kinds", rows=[{"x": x} for x in (1.0, 1, -0.0, 1e16)]))
prompt = weave.publish(weave.MessagesPrompt([{"role": "user", "content": "Greet {name}"}]), name="greeting")


class Place(weave.Object):
    city: str
    population: int


@weave.op
def describe(place: Place) -> str:
    return f"{place.city}: {place.population}"


place = weave.publish(Place(name="capital", city="Lima", population=10_000_000))
picture = weave.publish(Image.new("RGB", (4, 3), (255, 0, 0)), name="picture")
op = weave.publish(describe)
client.flush()

client.add_tags(second, ["reviewed"])
client.set_aliases(second, "production")
aliased = weave.ref(f"weave:///{sys.argv[1]}/object/numbers:production").get()

dataset = weave.ref("numbers").get()
rows = list(dataset.rows)
extended = weave.publish(dataset.add_rows([{"n": 7, "square": 49}]))

read_picture = weave.ref(picture.uri).get()
print(
    json.dumps(
        {
            "versions": [first.uri, second.uri, extended.uri],
            "latest": [dict(row) for row in rows],
            "first": [dict(row) for row in weave.ref(first.uri).get().rows],
            "selected": [dict(row) for row in dataset.select([1, 3])],
            "extended": len(weave.ref(extended.uri).get().rows),
            "aliased": len(aliased.rows),
            "tags": client.get_tags(second),
            "aliases": client.get_aliases(second),
            "all_tags": client.list_tags(),
            "large": [len(weave.ref(large.uri).get().rows), weave.ref(large.uri).get().rows[150]["n"]],
            "settings": json.loads(json.dumps(weave.ref(settings.uri).get(), default=dict)),
            "kinds": [repr(row["x"]) for row in weave.ref(kinds.uri).get().rows],
            "prompt": weave.ref(prompt.uri).get().format(name="Ada"),
            "place": describe(weave.ref(place.uri).get()),
            "picture": [read_picture.size, read_picture.getpixel((0, 0))],
            "op": weave.ref(op.uri).get()(Place(city="Quito", population=3)),
            "deleted": client.delete_all_object_versions("settings"),
        },
        default=str,
    )
)
client.flush()
