import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { entityOf } from '../../kernel/ids.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import { md5Digest } from '../../domain/files/file.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Cause } from '../../kernel/event.js'
import { BlobMissing, BlobTooLarge, type BlobRange } from '../../kernel/ports/blobs.js'
import { Failure } from '../../application/failure.js'
import { storeFile } from '../../application/files/files.js'
import { throwIfRefused } from '../../application/access/rights.js'
import type { Runs } from '../../application/runs/runs.js'
import type { AnyRoute, RouteRequest, RouteResponse } from '../server/route.js'
import { openRoute } from '../server/route-kinds.js'
import { CONTENT, readLink, type LinkServices } from './links.js'

type ContentServices = LinkServices & Pick<Services, keyof Ports | 'reading' | 'throttle' | 'maxFileBytes'>

const PATH = `${CONTENT}/:link`

/** Stores and reads content by links that the service made for a client: they need no key. */
export const linkedContentRoutes = (services: ContentServices, runs: Runs): readonly AnyRoute[] => [
  openRoute({
    method: 'put',
    path: PATH,
    bytes: true,
    summary:
      'Stores the body of the request where the link says. Content with another MD5 than the link names is refused.',
    errors: ['forbidden', 'bad-request', 'not-found', 'too-large', 'overloaded'],
    response: { schema: { type: 'string' }, type: 'text/plain' },
    handle: (request) => storeContent(services, runs, request),
  }),
  openRoute({
    method: 'get',
    path: PATH,
    summary: 'Reads the content that the link names, or the `Range` of it that the request names.',
    errors: ['forbidden', 'overloaded'],
    response: contentResponse,
    handle: (request) => readContent(services, request),
  }),
]

const storeContent = async (
  services: ContentServices,
  runs: Runs,
  { params, stream, cause: anonymous }: RouteRequest,
): Promise<RouteResponse<never>> => {
  const { may, project, of, user } = readLink(services, params['link']!)
  const cause = { ...anonymous, actor: user }
  if (may === 'read') throw new Failure('forbidden', 'The link is for reading.')
  await services.throttle(entityOf(project))
  const { blob, md5, size } = await storedBody(
    services,
    stream,
    entityOf(project),
    may === 'store' ? of[0]! : undefined,
  )
  const position = await (may === 'store' ? recordFile : recordRunFile)(services, runs, cause, {
    project,
    of,
    blob,
    md5,
    size,
  })
  // Clients do not read the body of this answer, and would keep a connection for each that has one.
  return { body: '', type: 'text/plain', position: services.reading.ackPosition(project, position) }
}

interface Stored {
  readonly project: string
  readonly of: readonly string[]
  readonly blob: string
  readonly md5: string
  readonly size: number
}

const recordFile = async (
  services: ContentServices,
  _runs: Runs,
  cause: Cause,
  { project: project_id, blob, md5, size }: Stored,
) => {
  const digest = md5Digest(md5)
  const file = { project_id, digest, blob, size, wb_user_id: cause.actor }
  return (await storeFile(services, { type: 'StoreFile', file })(cause)).readableAt
}

const recordRunFile = async (
  services: ContentServices,
  runs: Runs,
  cause: Cause,
  { project: project_id, of, blob, md5, size }: Stored,
) => {
  const [run_id = '', path = ''] = of
  const now = instantOf(services.clock.now())
  const written = await runs.write(
    { type: 'StoreRunFile', project_id, run_id, path, blob, md5, size, now },
    cause,
  )
  throwIfRefused(written.refusals.get(0))
  return written.readableAt
}

/** Fails before anything is stored if the MD5 differs from the expected one. */
const storedBody = async (
  { blobs, maxFileBytes }: Pick<ContentServices, 'blobs' | 'maxFileBytes'>,
  body: Readable,
  team: string,
  expected: string | undefined,
) => {
  const hash = createHash('md5')
  let md5 = ''
  const hashed = async function* () {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      hash.update(chunk as Uint8Array)
      yield chunk as Uint8Array
    }
    md5 = hash.digest('hex')
    if (expected !== undefined && md5 !== expected)
      throw new Failure('bad-request', `The content has the MD5 ${md5}, but the link is for ${expected}.`)
  }
  try {
    const { digest: blob, size } = await blobs.putStream(hashed(), maxFileBytes, team)
    return { blob, md5, size }
  } catch (error) {
    // So that the client reads the answer.
    body.resume()
    if (error instanceof Failure) throw error
    if (error instanceof BlobTooLarge)
      throw new Failure(
        'too-large',
        `The file exceeds the limit of ${maxFileBytes} bytes, which TALLYTREE_MAX_FILE_BYTES sets.`,
      )
    if (body.destroyed || body.errored !== null)
      throw new Failure('bad-request', 'The request body is incomplete.')
    throw error
  }
}

const readContent = async (
  services: ContentServices,
  request: RouteRequest,
): Promise<RouteResponse<never>> => {
  const { may, of } = readLink(services, request.params['link']!)
  const [digest = '', name = ''] = of
  if (may !== 'read') throw new Failure('forbidden', 'The link is for storing.')
  return contentOf(services, digest, name, request)
}

/** The response of a route that reads a blob, or the range of it that the request names. */
export const contentResponse = {
  schema: { type: 'string', format: 'binary' },
  type: 'application/octet-stream',
  otherStatuses: {
    206: {
      says: 'The range of the content.',
      schema: { type: 'string', format: 'binary' },
      type: 'application/octet-stream',
    },
    307: {
      says: 'The content is at this address of the bucket, for 15 minutes.',
      schema: { type: 'string' },
      type: 'text/plain',
    },
    416: { says: 'The content has no such range.', schema: { type: 'string' }, type: 'text/plain' },
  },
} as const

/** Earlier releases took any text as a path. */
const fileNameIn = (path: string): string => /[^/\\]*$/.exec(path)![0].toWellFormed()

/** A blob as a download under the last part of a path. */
export const contentOf = async (
  { blobs }: Pick<Ports, 'blobs'>,
  digest: string,
  path: string,
  { headers, stream: { method } }: Pick<RouteRequest, 'headers' | 'stream'>,
): Promise<RouteResponse<never>> => {
  // An address is signed for one method.
  if (blobs.direct !== undefined && method === 'GET') {
    if ((await blobs.direct.size(digest)) === undefined) throw new BlobMissing(digest)
    const Location = await blobs.direct.get(digest, fileNameIn(path))
    return { status: 307, body: '', type: 'text/plain', headers: { Location } }
  }
  const found = await blobs.open(digest)
  if (found === undefined) throw new BlobMissing(digest)
  const range = rangeIn(headers.range, found.size)
  if (range === 'none')
    return {
      status: 416,
      body: '',
      type: 'text/plain',
      headers: { 'Content-Range': `bytes */${found.size}` },
    }
  const blob = range === undefined ? found : (await blobs.open(digest, range))!
  return {
    status: range === undefined ? 200 : 206,
    body: Readable.from(blob.chunks, { objectMode: false }),
    type: 'application/octet-stream',
    headers: {
      'Content-Length': String(range === undefined ? found.size : range.end - range.start),
      'Accept-Ranges': 'bytes',
      // Content of others must not run as a page of this service.
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileNameIn(path))}`,
      'Content-Security-Policy': "sandbox; default-src 'none'",
      ...(range === undefined
        ? {}
        : { 'Content-Range': `bytes ${range.start}-${range.end - 1}/${found.size}` }),
    },
  }
}

/** The single range of a header; undefined for the whole content, as for headers of any other form. */
const rangeIn = (header: string | undefined, size: number): BlobRange | 'none' | undefined => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return start < end ? { start, end } : 'none'
}
