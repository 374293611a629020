import type { SignedIn } from './api.js'

interface Boot {
  /** Null where the browser has no session. */
  readonly signedIn: SignedIn | null
  /** Where programs reach this service. */
  readonly address: string
}

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? ''

/** What the server put into the page, to save a round trip. */
export const boot = JSON.parse(textOf('boot') || '{"signedIn":null,"address":""}') as Boot

export const address = boot.address || location.origin

export const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? ''
