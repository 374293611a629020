import type { Context, Next } from 'koa'
import type { RequestHeader, ResponseHeader } from './route.js'
import { KEY_HEADERS } from './serve.js'

export interface CorsSettings {
  /** Web pages of these origins may use the API. */
  readonly origins: readonly string[]
  readonly vendor: string
}

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const PREFLIGHT_SECONDS = '600'

/** Records, so that no header is forgotten. */
const REQUEST_HEADERS: Readonly<Record<Exclude<RequestHeader, 'Vendor-Project'>, true>> = {
  'Tallytree-Min-Position': true,
  'Tallytree-Stale': true,
  'Tallytree-As-Of': true,
  'Idempotency-Key': true,
  'OpenAI-Project': true,
  'Tallytree-Parent-Call': true,
  'Tallytree-Trace': true,
  traceparent: true,
  'Tallytree-Record': true,
  'Tallytree-Cache': true,
  'anthropic-version': true,
  'anthropic-beta': true,
  'X-WANDB-ASYNC-CLIENT-ID': true,
}
const RESPONSE_HEADERS: Readonly<Record<ResponseHeader, true>> = {
  'Retry-After': true,
  'Tallytree-Position': true,
  'Tallytree-Call-Id': true,
  'Tallytree-Cost': true,
  'Tallytree-Cache': true,
  'x-ratelimit-limit-requests': true,
  'x-ratelimit-remaining-requests': true,
  'x-ratelimit-reset-requests': true,
  'x-ratelimit-limit-tokens': true,
  'x-ratelimit-remaining-tokens': true,
  'x-ratelimit-reset-tokens': true,
  'anthropic-ratelimit-requests-limit': true,
  'anthropic-ratelimit-requests-remaining': true,
  'anthropic-ratelimit-requests-reset': true,
  'anthropic-ratelimit-tokens-limit': true,
  'anthropic-ratelimit-tokens-remaining': true,
  'anthropic-ratelimit-tokens-reset': true,
  'Tallytree-Refused': true,
  'Tallytree-Truncated': true,
  'Tallytree-Unfinished-Descendants': true,
  'Tallytree-Unpriced-Models': true,
  'Tallytree-Erased-Calls': true,
}

const ALLOWED = [
  'Authorization',
  'Content-Type',
  'Content-Encoding',
  'x-request-id',
  ...KEY_HEADERS,
  ...Object.keys(REQUEST_HEADERS),
]
const EXPOSED = [
  'x-request-id',
  'request-id',
  'x-should-retry',
  'Content-Disposition',
  'WWW-Authenticate',
  ...Object.keys(RESPONSE_HEADERS),
]

/**
 * Lets web pages of the origins use the API, and answers what browsers ask before. Keys are sent by the pages themselves,
 * so no response allows credentials, which are cookies.
 */
export const allowOrigins = ({ origins, vendor }: CorsSettings) => {
  const allowed = new Set(origins)
  return (ctx: Context, next: Next) => {
    ctx.vary('Origin')
    const origin = ctx.get('Origin')
    if (!allowed.has(origin)) return next()
    ctx.set('Access-Control-Allow-Origin', origin)
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') {
      ctx.set('Access-Control-Expose-Headers', EXPOSED.join(', '))
      return next()
    }
    // Clients send headers of their own as well, such as x-stainless-lang.
    const asked = ctx.get('Access-Control-Request-Headers')
    ctx.vary('Access-Control-Request-Headers')
    ctx.set('Access-Control-Allow-Methods', METHODS)
    ctx.set(
      'Access-Control-Allow-Headers',
      [...ALLOWED, `${vendor}-Project`, ...(asked === '' ? [] : [asked])].join(', '),
    )
    ctx.set('Access-Control-Max-Age', PREFLIGHT_SECONDS)
    ctx.status = 204
  }
}
