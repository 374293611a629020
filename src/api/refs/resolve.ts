import { jsonText } from '../../domain/json/text.js'
import type { Ref } from '../../domain/ref/ref.js'
import { walk } from '../../domain/ref/walk.js'
import { loadRoots, type Root, type Sources } from './roots.js'

/** The longest chain of references. A cycle resolves to null. */
const MAX_HOPS = 32

interface Pending {
  /** The index in the result. */
  readonly index: number
  readonly ref: Ref
}

/**
 * Resolves references to JSON texts in their order, `null` where there is no value. Each hop of all references is one
 * batch of reads.
 */
export const resolveRefs = async (
  sources: Sources,
  refs: readonly (Ref | undefined)[],
): Promise<readonly string[]> => {
  const values = refs.map(() => 'null')
  let pending = refs.flatMap((ref, index): Pending[] => (ref === undefined ? [] : [{ index, ref }]))
  for (let hops = 0; pending.length > 0 && hops < MAX_HOPS; hops += 1) {
    const roots = await loadRoots(
      sources,
      pending.map(({ ref }) => ref),
    )
    pending = pending.flatMap(({ index }, at): Pending[] => {
      const root = roots[at]
      if (root === undefined) return []
      const found = valueOf(root)
      if (found.onwards !== undefined) return [{ index, ref: found.onwards }]
      values[index] = found.text
      return []
    })
  }
  return values
}

interface ResolvedRoot {
  readonly text: string
  readonly onwards?: Ref
}

/** Without a path, the stored text is returned unparsed. */
const valueOf = ({ text, parsed, edges }: Root): ResolvedRoot => {
  if (edges.length === 0) return { text }
  const walked = walk(parsed(), edges)
  if (walked.kind === 'onwards') return { text: 'null', onwards: walked.ref }
  return { text: walked.kind === 'value' ? (walked.digits ?? jsonText(walked.value)) : 'null' }
}
