import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Certified } from './certificates.js'
import { refusalOf } from './s3-signature.js'

/** What goes wrong between the service and the store. */
export type S3Fault =
  /** The request takes effect; the answer is an error. */
  | { readonly kind: 'error after the bytes' }
  | {
      readonly kind: 'error'
      readonly status: number
      readonly code: string
      readonly headers?: Record<string, string>
      readonly members?: string
    }
  /** Half the answer, then the end of the connection. */
  | { readonly kind: 'cut answer' }
  /** The connection ends when half the request has arrived. */
  | { readonly kind: 'cut request' }
  /** Other bytes than were stored. */
  | { readonly kind: 'wrong content' }
  | { readonly kind: 'late answer'; readonly ms: number }

export interface FaultyRequests {
  /** Of these requests, such as `PUT` or `POST`. */
  readonly method?: RegExp
  /** Of requests whose path and query match. */
  readonly path?: RegExp
  readonly times?: number
}

/**
 * An S3 server in memory, over HTTP: objects, ranges, conditional writes, uploads in parts, copies and lists. It compares
 * content with the digest in the signature, and checks signatures in addresses, whose secret is `secret`.
 */
export interface S3Double {
  /** Of a bucket of this server. */
  readonly url: string
  readonly port: number
  readonly objects: Map<string, { content: Buffer; modified: Date; etag?: string }>
  /** Uploads that were neither completed nor aborted. */
  readonly unfinished: () => number
  /** Method, path and query of each request, in their order. */
  readonly requests: string[]
  readonly headers: IncomingMessage['headers'][]
  /** The most requests that were under way together since the last call. */
  readonly mostAtOnce: () => number
  readonly have: (fault: S3Fault, on?: FaultyRequests) => void
  readonly haveNoFault: () => void
  readonly ignoreConditions: () => void
  readonly ignoreMd5: () => void
  readonly stop: () => Promise<void>
}

const BUCKET = 'bucket'

export const startS3Double = async (certified?: Certified, host = '127.0.0.1'): Promise<S3Double> => {
  const objects: S3Double['objects'] = new Map()
  const uploads = new Map<string, Map<number, Buffer>>()
  const requests: string[] = []
  const headers: IncomingMessage['headers'][] = []
  let faults: { fault: S3Fault; on: FaultyRequests; left: number }[] = []
  let isConditional = true
  let comparesMd5 = true
  let [atOnce, most] = [0, 0]

  const faultOf = ({ method = '', url = '' }: IncomingMessage): S3Fault | undefined => {
    const found = faults.find(
      ({ on, left }) => left > 0 && (on.method ?? /./).test(method) && (on.path ?? /./).test(url),
    )
    if (found !== undefined) found.left -= 1
    return found?.fault
  }

  const answered = (request: IncomingMessage, body: Buffer): Answer => {
    const url = new URL(request.url ?? '/', 'http://double')
    const [, bucket, ...rest] = url.pathname.split('/')
    const key = decodeURIComponent(rest.join('/'))
    const { searchParams: query } = url
    const digest = request.headers['x-amz-content-sha256']
    if (bucket !== BUCKET) return errorOf(404, 'NoSuchBucket')
    const md5 = createHash('md5').update(body).digest('base64')
    if (comparesMd5 && (request.headers['content-md5'] ?? md5) !== md5) return errorOf(400, 'BadDigest')
    const isPresigned = query.has('X-Amz-Signature')
    const refusal = isPresigned ? refusalOf(request, 'secret') : undefined
    if (refusal !== undefined) return errorOf(403, refusal)
    if (!isPresigned && body.length > 0 && digest !== createHash('sha256').update(body).digest('hex'))
      return errorOf(400, 'XAmzContentSHA256Mismatch')
    const stored = (content: Buffer): Answer => {
      objects.set(key, { content, modified: new Date() })
      return { status: 200, headers: { ETag: etagOf(content) } }
    }
    const upload = uploads.get(query.get('uploadId') ?? '')
    const source = sourceOf(request, objects)
    switch (request.method) {
      case 'PUT': {
        if (query.has('partNumber')) {
          if (upload === undefined) return errorOf(404, 'NoSuchUpload')
          upload.set(Number(query.get('partNumber')), source ?? body)
          const etag = etagOf(source ?? body)
          return source === undefined
            ? { status: 200, headers: { ETag: etag } }
            : xml(`<CopyPartResult><ETag>${etag}</ETag></CopyPartResult>`)
        }
        if (source !== undefined) {
          stored(source)
          return xml(`<CopyObjectResult><ETag>${etagOf(source)}</ETag></CopyObjectResult>`)
        }
        if (isConditional && request.headers['if-none-match'] === '*' && objects.has(key))
          return errorOf(412, 'PreconditionFailed')
        if (isConditional && request.headers['if-match'] !== undefined)
          if (request.headers['if-match'] !== etagOf(objects.get(key)?.content ?? Buffer.alloc(0)))
            return errorOf(412, 'PreconditionFailed')
        return stored(body)
      }
      case 'POST': {
        if (query.has('uploads')) {
          const id = `upload-${uploads.size + requests.length}`
          uploads.set(id, new Map())
          return xml(
            `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
          )
        }
        if (upload === undefined) return errorOf(404, 'NoSuchUpload')
        const parts = [...upload].sort(([a], [b]) => a - b).map(([, part]) => part)
        if (String(etagsIn(body)) !== String(parts.map(etagOf))) return errorOf(400, 'InvalidPart')
        uploads.delete(query.get('uploadId')!)
        const sums = createHash('md5')
        for (const part of parts) sums.update(createHash('md5').update(part).digest())
        const etag = `"${sums.digest('hex')}-${parts.length}"`
        objects.set(key, { content: Buffer.concat(parts), modified: new Date(), etag })
        return xml('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
      }
      case 'DELETE':
        if (query.has('uploadId')) uploads.delete(query.get('uploadId')!)
        else objects.delete(key)
        return { status: 204 }
      case 'HEAD': {
        const found = objects.get(key)
        if (found === undefined) return { status: 404 }
        const { content, etag = etagOf(content) } = found
        return { status: 200, headers: { 'Content-Length': String(content.length), ETag: etag } }
      }
      default:
        return key === ''
          ? listOf(objects, query)
          : asAsked(objectOf(objects.get(key)?.content, request.headers.range), query)
    }
  }

  const meet = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
    const fault = faultOf(request)
    if (fault?.kind === 'cut request') {
      const half = Number(request.headers['content-length'] ?? 0) / 2
      let arrived = 0
      request.on('data', (chunk: Buffer) => {
        arrived += chunk.length
        if (arrived >= half) request.socket.resetAndDestroy()
      })
      return
    }
    const body = await buffer(request)
    const send = ({ status, headers: given = {}, content }: Answer) => {
      const isHead = request.method === 'HEAD'
      const length = isHead ? {} : { 'Content-Length': String(content?.length ?? 0) }
      response.writeHead(status, { 'x-amz-request-id': 'double', ...length, ...given })
      if (fault?.kind !== 'cut answer') {
        response.end(isHead ? undefined : content)
        return
      }
      response.write(content!.subarray(0, content!.length / 2), () => request.socket.destroy())
    }
    // Requests overlap, as they do over a network.
    await sleep(fault?.kind === 'late answer' ? fault.ms : 5)
    send(
      fault?.kind === 'error'
        ? errorOf(fault.status, fault.code, fault.headers, fault.members)
        : faulty(answered(request, body), fault),
    )
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    most = Math.max(most, (atOnce += 1))
    response.once('close', () => (atOnce -= 1))
    meet(request, response).catch(() => request.socket.destroy())
  }
  const server =
    certified === undefined ? createServer(listener) : createTlsServer({ ...certified }, listener)
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const scheme = certified === undefined ? 'http' : 'https'

  return {
    url: `s3://${BUCKET}/data?endpoint=${scheme}://${host}:${port}`,
    port,
    objects,
    unfinished: () => uploads.size,
    requests,
    headers,
    mostAtOnce: () => {
      const before = most
      most = 0
      return before
    },
    have: (fault, on = {}) => void faults.push({ fault, on, left: on.times ?? Infinity }),
    haveNoFault: () => void (faults = []),
    ignoreConditions: () => void (isConditional = false),
    ignoreMd5: () => void (comparesMd5 = false),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const faulty = (answer: Answer, fault: S3Fault | undefined): Answer => {
  if (fault?.kind === 'error after the bytes') return errorOf(500, 'InternalError')
  if (fault?.kind !== 'wrong content') return answer
  return { ...answer, content: Buffer.from((answer.content ?? Buffer.alloc(0)).map((byte) => byte ^ 1)) }
}

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly content?: Buffer
}

const xml = (text: string, status = 200, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'Content-Type': 'application/xml', ...headers },
  content: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${text}`),
})

const errorOf = (status: number, code: string, headers = {}, members = '') =>
  xml(`<Error><Code>${code}</Code><Message>${code}</Message>${members}</Error>`, status, headers)

const etagOf = (content: Buffer) => `"${createHash('md5').update(content).digest('hex')}"`

const etagsIn = (body: Buffer) =>
  [...body.toString().matchAll(/<ETag>(.*?)<\/ETag>/g)].map(([, etag]) => etag!.replaceAll('&quot;', '"'))

const asAsked = (answer: Answer, query: URLSearchParams): Answer => {
  const headers = [...query].flatMap(([name, value]) => {
    const [, header] = /^response-(.*)$/.exec(name) ?? []
    return header === undefined ? [] : [[header, value] as const]
  })
  return answer.status >= 300
    ? answer
    : { ...answer, headers: { ...answer.headers, ...Object.fromEntries(headers) } }
}

const RANGE = /^bytes=(\d+)-(\d*)$/

const sourceOf = ({ headers }: IncomingMessage, objects: S3Double['objects']): Buffer | undefined => {
  const named = headers['x-amz-copy-source']
  if (named === undefined) return undefined
  const key = decodeURIComponent(String(named)).split('/').slice(1).join('/')
  const { content } = objects.get(key)!
  const [, start, last] = RANGE.exec(String(headers['x-amz-copy-source-range'] ?? '')) ?? []
  return start === undefined ? content : content.subarray(Number(start), Number(last) + 1)
}

const objectOf = (content: Buffer | undefined, range: string | undefined): Answer => {
  if (content === undefined) return errorOf(404, 'NoSuchKey')
  if (range === undefined) return { status: 200, headers: { ETag: etagOf(content) }, content }
  const [, start, last] = RANGE.exec(range)!
  if (Number(start) >= content.length) return errorOf(416, 'InvalidRange')
  const part = content.subarray(Number(start), last === '' ? undefined : Number(last) + 1)
  const of = `bytes ${start}-${Number(start) + part.length - 1}/${content.length}`
  return { status: 206, headers: { 'Content-Range': of }, content: part }
}

const PAGE = 3

/** Pages are short, so that there are several. */
const listOf = (objects: S3Double['objects'], query: URLSearchParams): Answer => {
  const after = query.get('continuation-token') ?? query.get('start-after') ?? ''
  const found = [...objects]
    .filter(([key]) => key.startsWith(query.get('prefix') ?? '') && key > after)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const page = found.slice(0, PAGE)
  const contents = page.map(
    ([key, { content, modified }]) =>
      `<Contents><Key>${key}</Key><Size>${content.length}</Size>` +
      `<LastModified>${modified.toISOString()}</LastModified></Contents>`,
  )
  const more =
    found.length > PAGE
      ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${page.at(-1)![0]}</NextContinuationToken>`
      : '<IsTruncated>false</IsTruncated>'
  return xml(`<ListBucketResult>${contents.join('')}${more}</ListBucketResult>`)
}
