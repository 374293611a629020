import type { RunState } from '../../domain/runs/state.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { BlobStore } from '../../kernel/ports/blobs.js'
import { asUnreadable, FieldUnreadable } from '../../kernel/spill/read-back.js'

/** The JSON text of a configuration or a summary, read from where it is. */
export const storedText = async (
  blobs: Pick<BlobStore, 'get'>,
  stored: RunState['config'],
): Promise<string | null> => {
  if (stored === null || typeof stored === 'string') return stored
  const content = await blobs.get(stored.digest).catch(asUnreadable)
  if (content === undefined) throw new FieldUnreadable(`blob ${stored.digest} is missing`)
  return parseJson(new TextDecoder().decode(content)) as string
}
