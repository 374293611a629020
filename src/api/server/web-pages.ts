import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import type { Context, Next } from 'koa'
import { isOwnHost } from './session-cookie.js'

interface Asset {
  readonly type: string
  readonly body: Buffer
  /** By content encoding, the best first. */
  readonly compressed: Readonly<Partial<Record<'br' | 'gzip', Buffer>>>
}

/** The built web interface, in memory. */
export interface WebPages {
  readonly assets: ReadonlyMap<string, Asset>
  readonly manifest: Manifest
}

/** Names of assets. */
interface Manifest {
  readonly script: string
  readonly styles: string
  /** What the script imports at once. */
  readonly imports: readonly string[]
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  map: 'application/json; charset=utf-8',
}

/** Loads what `compile.mjs` built; undefined if it could not build the pages. */
export const loadWebPages = async (directory: URL): Promise<WebPages | undefined> => {
  const text = await readFile(new URL('manifest.json', directory), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const names = (await readdir(directory)).filter((name) => /\.(js|css|map)$/.test(name))
  const read = (name: string) => readFile(new URL(name, directory))
  const assets = await Promise.all(
    names.map(async (name): Promise<readonly [string, Asset]> => {
      const [body, br, gzip] = await Promise.all([read(name), read(`${name}.br`), read(`${name}.gz`)])
      return [name, { type: TYPES[name.split('.').at(-1)!]!, body, compressed: { br, gzip } }]
    }),
  )
  return { assets: new Map(assets), manifest: JSON.parse(text) as Manifest }
}

/** What the page gets with its HTML, as JSON: the signed-in user of the request, or null, and the public address. */
type BootOf = (headers: IncomingHttpHeaders) => object

export interface WebInterface {
  /** Undefined if they are not built. */
  readonly pages: WebPages | undefined
  readonly bootOf: BootOf
  readonly publicUrl: string | null
}

const ASSET_PATH = '/assets/'

/** Serves the files of the web interface, whose names change with their content. */
export const serveAssets =
  ({ assets }: WebPages) =>
  (ctx: Context, next: Next): unknown => {
    if (!ctx.path.startsWith(ASSET_PATH) || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next()
    const asset = assets.get(ctx.path.slice(ASSET_PATH.length))
    if (asset === undefined) return next()
    const encoding = (['br', 'gzip'] as const).find((name) => ctx.acceptsEncodings(name) === name)
    ctx.set({ 'Cache-Control': 'public, max-age=31536000, immutable', ...COMMON_HEADERS })
    ctx.vary('Accept-Encoding')
    ctx.type = asset.type
    if (encoding !== undefined) ctx.set('Content-Encoding', encoding)
    ctx.body = (encoding && asset.compressed[encoding]) ?? asset.body
    return undefined
  }

const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** Paths of programs, whose typing errors get JSON even in a browser. */
const OF_PROGRAMS = /^\/(api|v1|v2|traces|graphql)(\/|$)/

const wantsPage = (ctx: Context): boolean =>
  (ctx.method === 'GET' || ctx.method === 'HEAD') &&
  /\btext\/html\b/.test(String(ctx.req.headers.accept)) &&
  !OF_PROGRAMS.test(ctx.path)

/** Answers paths of pages, which browsers ask for, with the page; it finds its content by the path. */
export const servePages =
  ({ pages, bootOf, publicUrl }: WebInterface) =>
  (ctx: Context, next: Next): unknown => {
    if (!wantsPage(ctx)) return next()
    const nonce = randomBytes(16).toString('base64')
    ctx.set({ 'Content-Security-Policy': policyWith(nonce), ...COMMON_HEADERS })
    const isOwn = isOwnHost(ctx.req.headers, publicUrl)
    ctx.status = isOwn ? 200 : 403
    ctx.type = 'text/html; charset=utf-8'
    if (!isOwn) ctx.body = elsewhere(publicUrl!)
    else ctx.body = pages === undefined ? NOT_BUILT : htmlOf(pages.manifest, nonce, bootOf(ctx.req.headers))
    return undefined
  }

/** Styles need the nonce, because Mantine inserts them; no script is inline. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M8 1 3 8h3l-3 4h4v3h2v-3h4l-3-4h3z" fill="#0b6e5d"/></svg>',
  )

const htmlOf = ({ script, styles, imports }: Manifest, nonce: string, boot: object): string => {
  const preload = imports.map((name) => `<link rel="modulepreload" href="${ASSET_PATH}${name}">`).join('')
  const data = JSON.stringify(boot).replaceAll('<', '\\u003c')
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta name="csp-nonce" content="${nonce}"><title>Tallytree</title><link rel="icon" href="${ICON}">` +
    `<link rel="stylesheet" href="${ASSET_PATH}${styles}">${preload}` +
    `<script type="module" src="${ASSET_PATH}${script}"></script></head>` +
    `<body><div id="root"></div><script type="application/json" id="boot">${data}</script></body></html>`
  )
}

/** The URL is an origin, which needs no escaping. */
const elsewhere = (publicUrl: string): string =>
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tallytree</title></head><body>' +
  `<h1>Another address</h1><p>The pages are at <a href="${publicUrl}">${publicUrl}</a>, which the operator sets as ` +
  '<code>TALLYTREE_PUBLIC_URL</code>, and at localhost and IP addresses. A proxy must pass the Host header on.</p>' +
  '</body></html>'

const NOT_BUILT =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tallytree</title></head><body>' +
  '<h1>The pages are not built</h1><p>The API runs. To get the web interface, stop the service, run ' +
  '<code>npm ci</code> (with development packages) and <code>npm start</code>.</p></body></html>'
