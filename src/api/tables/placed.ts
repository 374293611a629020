import type { Ports } from '../../domain/ports/ports.js'
import type { SpilledFields } from '../../domain/spill/fields.js'

/** A field with more bytes goes to the blob store: an append takes one pack and the digests of a table beside. */
const MAX_INLINE_BYTES = 256 * 1024

type Placed<F extends string, A> = { readonly [K in F]: A | null } & { readonly spilled: SpilledFields }

/**
 * A field whose JSON text is known already, as its event holds it: itself, or its place in the blob store, where it
 * then lies durably. `canonical` is the same JSON with sorted keys.
 */
export const placed = async <F extends string, A>(
  { blobs, sha256 }: Pick<Ports, 'blobs' | 'sha256'>,
  field: F,
  value: A,
  text: string,
  canonical = text,
): Promise<Placed<F, A>> => {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_INLINE_BYTES) return { [field]: value, spilled: {} } as Placed<F, A>
  const place = { digest: await blobs.put(bytes), size: bytes.length, canonical: sha256(canonical) }
  return { [field]: null, spilled: { [field]: place } } as unknown as Placed<F, A>
}
