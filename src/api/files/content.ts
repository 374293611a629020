import { readConditionsIn } from '../server/read-conditions.js'
import type { Services } from '../../application/services.js'
import { Readable } from 'node:stream'
import { string } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { BlobMissing } from '../../kernel/ports/blobs.js'
import { inBody } from '../server/authorization.js'
import { storedFile } from '../../application/files/files.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'

const fileContent = closed('FileContentRequest', { required: { project_id: projectId, digest: string } })

/** `/files/content` is the newer name. */
export const contentRoutes = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'access' | 'reading'>,
): readonly AnyRoute[] =>
  ['/file/content', '/files/content'].map((path) =>
    readProject(services, {
      method: 'post',
      path,
      summary: "Read a file's content exactly as it was stored.",
      body: fileContent,
      response: { schema: { type: 'string', format: 'binary' }, type: 'application/octet-stream' },
      project: inBody,
      handle: ({ body: { project_id, digest }, headers }) => ({
        waitFor: () => services.reading.logPosition(readConditionsIn(headers)),
        read: async (position) => {
          const file = await storedFile(services, project_id, digest, position)
          const blob = await services.blobs.open(file.blob)
          if (blob === undefined) throw new BlobMissing(file.blob)
          return {
            body: Readable.from(blob.chunks, { objectMode: false }),
            type: 'application/octet-stream',
            headers: { 'Content-Length': String(blob.size) },
          }
        },
      }),
    }),
  )
