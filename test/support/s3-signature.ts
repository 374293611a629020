import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The code with which S3 refuses a request that is signed in its address; undefined for one that is in order. */
export const refusalOf = (
  { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  secret: string,
): string | undefined => {
  const { pathname, searchParams: query } = new URL(url, 'http://store')
  const [day, region, service, end] = (query.get('X-Amz-Credential') ?? '').split('/').slice(1)
  const date = query.get('X-Amz-Date') ?? ''
  const signedHeaders = (query.get('X-Amz-SignedHeaders') ?? '').split(';')
  const canonicalQuery = [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(escaped).join('='))
    .sort()
    .join('&')
  const canonicalRequest = [
    method,
    pathname,
    canonicalQuery,
    ...signedHeaders.map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    '',
    signedHeaders.join(';'),
    query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
  ].join('\n')
  const scope = [day, region, service, end].join('/')
  const hashed = createHash('sha256').update(canonicalRequest).digest('hex')
  const text = ['AWS4-HMAC-SHA256', date, scope, hashed].join('\n')
  const key = [day!, region!, service!, end!].reduce<string | Buffer>(
    (made, part) => createHmac('sha256', made).update(part).digest(),
    `AWS4${secret}`,
  )
  if (createHmac('sha256', key).update(text).digest('hex') !== query.get('X-Amz-Signature'))
    return 'SignatureDoesNotMatch'
  const begin = Date.parse(date.replace(/^(.{4})(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  return Date.now() > begin + Number(query.get('X-Amz-Expires')) * 1000 ? 'AccessDenied' : undefined
}

const escaped = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
