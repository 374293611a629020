import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Signer } from '../../kernel/ports/signer.js'
import type { KeyRing, MasterKey } from './key-ring.js'

/** No other text is authenticated with the master keys under this prefix. */
const PURPOSE = 'tallytree signature\n'

/** Signs with the active master key; a signature names its key, so that it is valid until that key is removed. */
export const openSigner = (ring: KeyRing): Signer => {
  const signed = ({ id, key }: MasterKey, text: string): string => {
    const mac = createHmac('sha256', key)
      .update(PURPOSE + text)
      .digest('base64url')
    return `${id}.${mac}`
  }
  return {
    sign: (text) => signed(ring.active(), text),
    verify: (text, signature) => {
      const key = ring.find(signature.slice(0, Math.max(0, signature.lastIndexOf('.'))))
      if (key === undefined) return false
      const [expected, given] = [Buffer.from(signed(key, text)), Buffer.from(signature)]
      return expected.length === given.length && timingSafeEqual(expected, given)
    },
  }
}
