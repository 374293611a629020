/** An HTTP POST, byte for byte. */
export interface OutgoingMessage {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** From the start to the end of the response. */
  readonly timeoutMs: number
}

/** Duration of each phase in milliseconds; null if it was not reached. */
export interface Phases {
  readonly dns: number | null
  readonly connect: number | null
  readonly tls: number | null
  readonly first_byte: number | null
  readonly total: number
}

/**
 * Why an address is not allowed: `url` is no URL of HTTP, `port` a port of another kind of service, `private_network` a
 * network that the operator has not allowed. Never allowed are `metadata` services of clouds, `own_address` of this
 * service, and `reserved` addresses such as multicast.
 */
export type AddressRule = 'url' | 'port' | 'private_network' | 'metadata' | 'own_address' | 'reserved'

/** Why no complete response head arrived. */
export type SendError =
  /** The URL's IP address is forbidden; no network was used. A retry cannot succeed. */
  | { readonly kind: 'forbidden-address'; readonly rule: AddressRule }
  /** The host name resolves to a forbidden address. A DNS change can fix it. */
  | { readonly kind: 'forbidden-name'; readonly rule: AddressRule }
  | { readonly kind: 'timeout'; readonly phase: 'dns' | 'connect' | 'tls' | 'head' | 'total' }
  | { readonly kind: 'dns' | 'connect' | 'tls' | 'reset' | 'protocol'; readonly code: string }
  /** The caller's signal. */
  | { readonly kind: 'aborted' }

export interface SendResult {
  /** Null without a response head. */
  readonly status: number | null
  /** Names in lower case; at most 16 KiB in total. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 16 KiB of the response body. */
  readonly body: Uint8Array
  /** Null if a head arrived, whatever happened to the body. */
  readonly error: SendError | null
  readonly phases: Phases
  /** Whether the receiver may have the complete message. */
  readonly bodySent: boolean
  readonly peer: string | null
}

/** Sends one message, without redirects or retries. Never throws. */
export interface WebhookSender {
  send(message: OutgoingMessage, signal?: AbortSignal): Promise<SendResult>
}
