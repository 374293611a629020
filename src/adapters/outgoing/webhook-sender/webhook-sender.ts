import {
  request as requestHttp,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  type IncomingHttpHeaders,
} from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, rootCertificates } from 'node:tls'
import got, { type BeforeRequestHook, type Request, type RequestFunction } from 'got'
import type {
  OutgoingMessage,
  SendError,
  SendResult,
  WebhookSender,
} from '../../../kernel/ports/webhook-sender.js'
import { addressRules, type AllowList, type Listening } from '../guard/address-rules.js'
import { dialling, type Dial } from '../guard/connect-to-any.js'
import { ERRAND, guardedAgents, type ErrandOption, type GuardedAgents } from './guarded-agents.js'
import { guardedConnect } from '../guard/guarded-connect.js'
import { resolving, type NameSources } from '../guard/resolve.js'
import { expectResponseHead } from '../response-heads.js'
import { NO_PHASES, RequestProgress, USUAL_LIMITS, type Limits } from '../guard/request-progress.js'
import { targetOf, type Target } from '../guard/target.js'

export interface WebhookSenderOptions {
  readonly allowed?: Partial<AllowList>
  /** The address on which this service listens, once it does. */
  readonly listening?: () => Listening | undefined
  /** Further certificate authorities to trust, PEM. */
  readonly certificateAuthorities?: string | undefined
  readonly names?: NameSources
  readonly limits?: Partial<Limits>
  readonly dial?: Dial
}

export interface ClosableWebhookSender extends WebhookSender {
  /** Closes idle connections. */
  close(): void
}

/** Sends with got, through agents that check the address of each connection. */
export const webhookSender = (options: WebhookSenderOptions = {}): ClosableWebhookSender => {
  const { cidrs = [], hosts = [] } = options.allowed ?? {}
  const rules = addressRules({ cidrs, hosts }, options.listening)
  const ca = options.certificateAuthorities
  const agents = guardedAgents(
    guardedConnect({
      rules,
      resolve: resolving(options.names),
      dial: options.dial ?? dialling,
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      }),
    }),
  )
  const limits = { ...USUAL_LIMITS, ...options.limits }
  const client = got.extend({
    agent: { http: agents.http, https: agents.https },
    method: 'POST',
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    maxHeaderSize: HEAD_BYTES,
    headers: { 'user-agent': 'Tallytree', 'accept-encoding': 'identity' },
    hooks: { beforeRequest: [withoutCacheOptions] },
  })

  return {
    send: async (message, signal) => {
      const target = targetOf(message.url)
      if (target === undefined) return notTried({ kind: 'forbidden-address', rule: 'url' })
      const rule =
        rules.refusalOfPort(target) ??
        (target.isLiteral ? rules.refusalOfAddress(target, target.host) : undefined)
      if (rule !== undefined) return notTried({ kind: 'forbidden-address', rule })
      const progress = new RequestProgress(message.timeoutMs, limits, signal)
      if (progress.signal.aborted) {
        progress.finish()
        return notTried(progress.error)
      }
      return exchange(message, target, progress, agents, (given) =>
        client.stream(message.url, { isStream: true, ...given }),
      )
    },
    close: () => {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/** Set once: got spreads them before some thirty members, which would make dozens of hidden classes per request (Node 20). */
const withoutCacheOptions: BeforeRequestHook = (options) => {
  options.cacheOptions = {}
}

const notTried = (error: SendError | null): SendResult => ({
  status: null,
  headers: {},
  body: new Uint8Array(),
  error,
  phases: NO_PHASES,
  bodySent: false,
  peer: null,
})

/** Maximum interim responses (1xx). */
const MAX_INTERIM_RESPONSES = 16

type Post = (given: {
  readonly headers: Record<string, string>
  readonly body: Buffer
  readonly request: RequestFunction
}) => Request

/** Sends one message and reads the start of its response. */
const exchange = (
  message: OutgoingMessage,
  target: Target,
  progress: RequestProgress,
  agents: GuardedAgents,
  post: Post,
): Promise<SendResult> =>
  new Promise((resolve) => {
    const excerpt = new Excerpt()
    const beginning = new Beginning()
    let head: Pick<IncomingMessage, 'statusCode' | 'headers'> | undefined
    let isReused = false

    const request: RequestFunction = (url, options, onAnswer) => {
      const begin = target.isSecure ? requestHttps : requestHttp
      const headers = asWritten(message.headers, options.headers)
      const errand: ErrandOption & RequestOptions = { [ERRAND]: { target, progress }, ...options, headers }
      const made = begin(url, errand, onAnswer)
      made.once('socket', (socket) => {
        isReused = made.reusedSocket
        progress.peer = socket.remoteAddress ?? null
        expectResponseHead(socket)
        beginning.listenTo(socket)
        progress.enter('head')
      })
      made.once('finish', () => (progress.bodySent = true))
      let interimResponses = 0
      made.on('information', () => {
        interimResponses += 1
        if (interimResponses > MAX_INTERIM_RESPONSES)
          progress.end({ kind: 'protocol', code: 'TOO_MANY_INTERIM_ANSWERS' })
      })
      return made
    }
    const { buffer, byteOffset, byteLength } = message.body
    const stream = post({
      headers: { ...message.headers },
      body: Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength),
      request,
    })

    const settle = (failure?: SendError): void => {
      if (progress.isFinished) return
      progress.finish()
      if (!stream.destroyed) stream.destroy()
      beginning.stop()
      if (failure?.kind === 'protocol') head ??= beginning.head()
      const error =
        head === undefined ? (progress.error ?? failure ?? { kind: 'reset', code: 'ECONNRESET' }) : null
      if (error?.kind === 'reset' && isReused) agents.distrust(target)
      resolve({
        status: head?.statusCode ?? null,
        headers: flatHeaders(head?.headers ?? {}),
        body: excerpt.bytes(),
        error,
        phases: progress.phases(),
        bodySent: progress.bodySent,
        peer: error?.kind.startsWith('forbidden') === true ? null : progress.peer,
      })
    }
    const onHead = (answer: IncomingMessage): void => {
      head = answer
      progress.leave()
    }
    progress.signal.addEventListener('abort', () => settle())
    stream.on('response', onHead)
    stream.on('upgrade', (answer: IncomingMessage, socket: Socket) => {
      onHead(answer)
      // The request no longer owns the connection.
      socket.destroy()
      settle()
    })
    stream.on('data', (chunk: Buffer) => {
      if (!excerpt.add(chunk)) settle()
    })
    stream.on('end', () => settle())
    stream.on('error', (error: NodeJS.ErrnoException) => settle(failureOf(error.code ?? 'UNKNOWN')))
    stream.on('close', () => settle())
  })

/** got lower-cases names; this restores their case as in the specification. */
const asWritten = (
  given: OutgoingMessage['headers'],
  lowered: RequestOptions['headers'] = {},
): OutgoingHttpHeaders => {
  const names = new Map(Object.keys(given).map((name) => [name.toLowerCase(), name]))
  return Object.fromEntries(Object.entries(lowered).map(([name, value]) => [names.get(name) ?? name, value]))
}

/** The error of an established connection. */
const failureOf = (code: string): SendError =>
  /^(HPE_|ERR_)/.test(code) ? { kind: 'protocol', code } : { kind: 'reset', code }

/** The first bytes of a response, whose status line counts even if the parser refuses the header lines after it. */
class Beginning {
  private bytes = Buffer.alloc(0)
  private socket: Socket | undefined

  listenTo(socket: Socket): void {
    this.socket = socket.on('data', this.add)
  }

  stop(): void {
    this.socket?.off('data', this.add)
  }

  head(): Pick<IncomingMessage, 'statusCode' | 'headers'> | undefined {
    const status = /^HTTP\/1\.[01] ([2-5]\d\d)[ \r\n]/.exec(this.bytes.toString('latin1'))?.[1]
    return status === undefined ? undefined : { statusCode: Number(status), headers: {} }
  }

  private readonly add = (chunk: Buffer) => {
    if (this.bytes.length < STATUS_LINE_BYTES)
      this.bytes = Buffer.concat([this.bytes, chunk.subarray(0, STATUS_LINE_BYTES)])
  }
}

const STATUS_LINE_BYTES = 16

/** Bytes of a response body that are stored, and after which reading stops. */
const KEPT_BYTES = 16_384
const READ_BYTES = 65_536

/** Maximum bytes of a response head. */
const HEAD_BYTES = 16_384

/** The start of a body. */
class Excerpt {
  private readonly chunks: Buffer[] = []
  private read = 0

  /** Returns whether to read on. */
  add(chunk: Buffer): boolean {
    if (this.read < KEPT_BYTES) this.chunks.push(chunk)
    this.read += chunk.length
    return this.read < READ_BYTES
  }

  /** A copy, so that the read buffer can be freed. */
  bytes(): Uint8Array {
    return Uint8Array.from(Buffer.concat(this.chunks).subarray(0, KEPT_BYTES))
  }
}

const flatHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [
      name,
      typeof value === 'string' ? value : value.join(', '),
    ]),
  )
