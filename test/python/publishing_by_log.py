"""Publishes objects while the package's write-ahead log is on, and reads them back. Prints what it read, as JSON."""

import json
import sys
import time

import weave

client = weave.init(sys.argv[1])


class City(weave.Model):
    name: str
    settings: dict

    @weave.op
    def predict(self, population: int) -> str:
        return f"{self.name}: {population}"


settings = weave.publish({"temperature": 0.5, "top_p": 1.0, "stop": ["é", None]}, name="settings")
dataset = weave.publish(weave.Dataset(name="kinds", rows=[{"x": x} for x in (1.0, 1, "é")]))
city = City(name="Lima", settings={"temperature": 1e16})
model = weave.publish(city, name="city")
outer = weave.publish({"inner": settings.uri, "model": city}, name="outer")
city.predict(3)
city.predict(4)
client.flush()

# The log is sent in the background, which `flush` does not wait for.
deadline = time.monotonic() + 30
while len(list(client.get_calls())) < 2 and time.monotonic() < deadline:
    time.sleep(0.2)
called = len(list(client.get_calls()))

print(
    json.dumps(
        {
            "rows": [row["x"] if isinstance(row["x"], str) else repr(row["x"]) for row in weave.ref(dataset.uri).get().rows],
            "nested": weave.ref(outer.uri).get()["inner"]["temperature"],
            "model": weave.ref(model.uri).get().predict(3),
            "called": called,
        }
    )
)
client.flush()
