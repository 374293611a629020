import { fileDecider, fileStream, type FileEvent } from '../../domain/files/file.js'
import { commandsOf } from '../../kernel/execute.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { Failure } from '../failure.js'

/** Records a file whose content is in the blob store. */
export const storeFile = commandsOf(
  fileDecider,
  ({ file: { project_id, digest } }) => fileStream(project_id, digest),
  { assumeNew: true },
)

const MAX_DIGEST = 256

/** Reads the log instead of a projection, so that an acknowledged file is readable at once. */
export const storedFile = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  project_id: string,
  digest: string,
  at: Position,
) => {
  if (digest.length <= MAX_DIGEST)
    for await (const { data, position } of eventStore.readStream(fileStream(project_id, digest), {
      limit: 1,
    }))
      if (position <= at) return data as FileEvent['data']
  throw new Failure('not-found', 'File not found in this project.')
}
