import { setTimeout as sleep } from 'node:timers/promises'
import { blobsNamedBy } from '../../kernel/spill/named-blobs.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'

/** An event follows its blobs within this time. */
const APPENDED_WITHIN_MS = 1000
/** Their content is held in memory, until no event can name them. */
const AT_ONCE = 16

/**
 * Deletes blobs that no event names; returns how many. Equal content that is stored meanwhile may be a blob that is about to
 * be deleted, so what an event then names is stored again.
 */
export const deleteUnnamed = async (
  { eventStore, blobs }: Pick<Ports, 'eventStore' | 'blobs'>,
  digests: readonly string[],
): Promise<number> => {
  const unnamed = new Set(digests)
  let scanned: Position = 0n
  const removeNamed = async () => {
    if (unnamed.size === 0) return
    for await (const event of eventStore.readAll({ after: scanned })) {
      scanned = event.position
      for (const digest of blobsNamedBy(event)) unnamed.delete(digest)
    }
  }
  await removeNamed()
  const all = [...unnamed]
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const deleted: [string, Uint8Array][] = []
    for (const digest of all.slice(from, from + AT_ONCE)) {
      const content = unnamed.has(digest) ? await blobs.get(digest) : undefined
      if (content === undefined) continue
      await blobs.delete(digest)
      deleted.push([digest, content])
    }
    await sleep(APPENDED_WITHIN_MS)
    await removeNamed()
    for (const [digest, content] of deleted) if (!unnamed.has(digest)) await blobs.put(content)
  }
  return unnamed.size
}
