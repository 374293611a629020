import type { Services } from '../../application/services.js'
import { Readable } from 'node:stream'
import { administratorKey } from '../server/authorization.js'
import { Failure } from '../../application/failure.js'
import type { AnyRoute } from '../server/route.js'
import { readDirectory } from '../server/route-kinds.js'

export const blobsRoute = ({ blobs }: Pick<Services, 'blobs'>): AnyRoute =>
  readDirectory({
    method: 'get',
    path: '/api/blobs/:digest',
    summary:
      'Read content that events reference instead of containing it, by its SHA-256 in lower-case hex. Needs the ' +
      'administrator key.',
    errors: ['not-found'],
    response: { schema: { type: 'string', format: 'binary' }, type: 'application/octet-stream' },
    authorization: administratorKey,
    handle: async ({ params }) => {
      const blob = await blobs.open(params['digest'] ?? '')
      if (blob === undefined) throw new Failure('not-found', 'Blob not found.')
      return {
        body: Readable.from(blob.chunks, { objectMode: false }),
        type: 'application/octet-stream',
        headers: { 'Content-Length': String(blob.size) },
      }
    },
  })
