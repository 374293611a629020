/** An HTTP POST as it goes out, byte for byte. */
export interface OutgoingMessage {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** From the first step to the end of the answer. */
  readonly timeoutMs: number
}

/** How long each step took, in milliseconds; null for one that was not reached. */
export interface Phases {
  readonly dns: number | null
  readonly connect: number | null
  readonly tls: number | null
  readonly first_byte: number | null
  readonly total: number
}

/** What went wrong before a whole head of an answer was there. */
export type SendError =
  /** The address is one that may not be reached, by its own text: no network was used, and none ever will be. */
  | { readonly kind: 'forbidden-address' }
  /** The name leads to an address that may not be reached; names can be mended. */
  | { readonly kind: 'forbidden-name' }
  | { readonly kind: 'timeout'; readonly phase: 'dns' | 'connect' | 'tls' | 'head' | 'total' }
  | { readonly kind: 'dns' | 'connect' | 'tls' | 'reset' | 'protocol'; readonly code: string }
  /** The caller's signal. */
  | { readonly kind: 'aborted' }

export interface Sent {
  /** Null where no head of an answer came. */
  readonly status: number | null
  /** The answer's headers, names in lower case; at most 16 KiB in all. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 16 KiB of the answer's body. */
  readonly body: Uint8Array
  /** Null where a head came, whatever became of the body behind it. */
  readonly error: SendError | null
  readonly phases: Phases
  /** Whether the receiver may have the whole message. */
  readonly bodySent: boolean
  readonly peer: string | null
}

/** Sends one message once: follows nothing, repeats nothing, never throws. */
export interface WebhookSender {
  send(message: OutgoingMessage, signal?: AbortSignal): Promise<Sent>
}
