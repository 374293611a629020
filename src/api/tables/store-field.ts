import type { Ports } from '../../domain/ports/ports.js'
import type { SpilledFields } from '../../domain/spill/fields.js'

/** Larger fields go to the blob store, so that a pack fits into an append with the digests of a table. */
const MAX_INLINE_BYTES = 256 * 1024

type StoredField<F extends string, A> = { readonly [K in F]: A | null } & { readonly spilled: SpilledFields }

/**
 * Stores a field inline, or durably in the blob store, for a field whose JSON text is already known. `canonical` is the
 * same JSON with sorted keys.
 */
export const storeField = async <F extends string, A>(
  { blobs, sha256 }: Pick<Ports, 'blobs' | 'sha256'>,
  field: F,
  value: A,
  text: string,
  canonical = text,
): Promise<StoredField<F, A>> => {
  const bytes = Buffer.from(text)
  if (bytes.length <= MAX_INLINE_BYTES) return { [field]: value, spilled: {} } as StoredField<F, A>
  const place = { digest: await blobs.put(bytes), size: bytes.length, canonical: sha256(canonical) }
  return { [field]: null, spilled: { [field]: place } } as unknown as StoredField<F, A>
}
