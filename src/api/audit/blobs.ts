import { Readable } from 'node:stream'
import { requireAdministrator } from '../auth/rights.js'
import { Failure } from '../failure.js'
import { route, type AnyRoute } from '../route.js'
import type { Audit } from './audit.js'

export const blobsRoute = ({ ports: { blobs } }: Pick<Audit, 'ports'>): AnyRoute =>
  route({
    method: 'get',
    path: '/api/blobs/:digest',
    summary:
      'Read content that events name instead of holding it, by its SHA-256 in lower-case hexadecimal. Needs the ' +
      'administrator key.',
    requestHeaders: [],
    errors: ['forbidden', 'not-found'],
    response: {
      schema: { type: 'string', format: 'binary' },
      type: 'application/octet-stream',
      headers: [],
    },
    handle: async ({ params, principal }) => {
      requireAdministrator(principal)
      const blob = await blobs.open(params['digest'] ?? '')
      if (blob === undefined) throw new Failure('not-found', 'There is no such blob.')
      return {
        body: Readable.from(blob.chunks, { objectMode: false }),
        type: 'application/octet-stream',
        headers: { 'Content-Length': String(blob.size) },
      }
    },
  })
