"""Queues calls for review, and reviews one. Prints what the package reads back."""

import json
import sys

import weave

client = weave.init(sys.argv[1])


@weave.op
def answer(question: str) -> str:
    return question.upper()


calls = [answer.call(question)[1] for question in ("one", "two", "three")]
ids = [call.id for call in calls]

queue = client.create_annotation_queue(name="Reviews", scorer_refs=[], description="Be kind")
client.create_annotation_queue(name="Others", scorer_refs=[])
added = client.add_calls_to_annotation_queue(queue, call_ids=ids, display_fields=["inputs.question"])
again = client.add_calls_to_annotation_queue(queue, call_ids=ids[:1], display_fields=["inputs.question"])
items = client.list_annotation_queue_items(queue)
reviewed = client.server.annotator_queue_items_progress_update(
    {
        "project_id": client.project_id,
        "queue_id": queue,
        "item_id": items[1].id,
        "annotation_state": "completed",
    }
).item
left = client.list_annotation_queue_items(
    queue, filter={"annotation_states": ["unstarted"]}, include_position=True
)
stats = client.get_annotation_queue_stats([queue])
changed = client.update_annotation_queue(queue, name="Reviewed")
listed = client.list_annotation_queues(name="REV")
in_queue = {"$eq": [{"$getField": "annotation_queue_items.queue_id"}, {"$literal": queue}]}
selected = [call.id for call in client.get_calls(query={"$expr": in_queue})]
deleted = client.delete_annotation_queue(queue)

print(
    json.dumps(
        {
            "added": [added.added_count, added.duplicates],
            "again": [again.added_count, again.duplicates],
            "items": [ids.index(item.call_id) for item in items],
            "fields": items[0].display_fields,
            "reviewed": [reviewed.annotation_state, reviewed.annotator_user_id is not None],
            "left": [[ids.index(item.call_id), item.position_in_queue] for item in left],
            "stats": [[one.total_items, one.completed_items] for one in stats],
            "changed": [changed.name, changed.description],
            "listed": [one.id == queue for one in listed],
            "selected": sorted(ids.index(one) for one in selected),
            "deleted": deleted.deleted_at is not None,
            "remaining": [one.name for one in client.list_annotation_queues()],
        }
    )
)
