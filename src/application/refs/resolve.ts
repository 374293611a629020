import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { isIndex, walk, type Edge, type Ref } from '../../domain/refs/ref.js'

interface ObjectVersion {
  readonly objectId: string
  /** A digest, `latest` or `v<N>`. */
  readonly digest: string
}

interface RowOfTable {
  readonly tableDigest: string
  readonly rowDigest: string
}

interface RowAtIndex {
  readonly tableDigest: string
  readonly index: number
}

type Texts = readonly (string | undefined)[]

/** Loads values as JSON texts, in the order of the arguments; undefined where there is none. */
export interface Sources {
  readonly objects: (projectId: string, wanted: readonly ObjectVersion[]) => Promise<Texts>
  readonly rows: (projectId: string, wanted: readonly RowOfTable[]) => Promise<Texts>
  readonly rowsByIndex: (projectId: string, wanted: readonly RowAtIndex[]) => Promise<Texts>
  readonly calls: (projectId: string, ids: readonly string[]) => Promise<Texts>
}

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

/** The value that a reference names, and the path into it. */
interface Root {
  readonly text: string
  readonly parsed: () => Json
  readonly edges: readonly Edge[]
}

/** Loads the roots of references, in their order. Equal roots are loaded and parsed once. */
const loadRoots = async (sources: Sources, refs: readonly Ref[]): Promise<readonly (Root | undefined)[]> => {
  const wanted = refs.map((ref) => rootRequestOf(ref))
  const groups = new Map<string, Map<string, RootRequest>>()
  for (const one of wanted) {
    if (one === undefined) continue
    const group = groups.get(one.group) ?? new Map<string, RootRequest>()
    groups.set(one.group, group.set(one.key, one))
  }
  const loaded = new Map<string, LoadedRoot>()
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const all = [...group.values()]
      const texts = await loadTexts(sources, all)
      for (const [index, { key }] of all.entries()) {
        const text = texts[index]
        if (text !== undefined) loaded.set(key, once(text))
      }
    }),
  )
  return wanted.map((one): Root | undefined => {
    const found = one === undefined ? undefined : loaded.get(one.key)
    return found === undefined ? undefined : { ...found, edges: one!.edges }
  })
}

type LoadedRoot = Omit<Root, 'edges'>

const once = (text: string): LoadedRoot => {
  let value: Json | undefined
  return { text, parsed: () => (value ??= parseJson(text)) }
}

type RootRequest = RootName & {
  readonly projectId: string
  /** Roots of the same group are loaded with one query. */
  readonly group: string
  readonly key: string
  readonly edges: readonly Edge[]
}

type RootName =
  | { readonly kind: 'object'; readonly name: ObjectVersion }
  | { readonly kind: 'row'; readonly name: RowOfTable }
  | { readonly kind: 'row by index'; readonly name: RowAtIndex }
  | { readonly kind: 'call'; readonly name: string }

/** Undefined for a whole table, which is not a value. */
const rootRequestOf = (ref: Ref): RootRequest | undefined => {
  const { projectId } = ref
  const found = rootNameOf(ref)
  if (found === undefined) return undefined
  const group = `${projectId}\n${found.kind}`
  const edges = ref.kind === 'table' ? ref.edges.slice(1) : ref.edges
  return { ...found, projectId, group, key: `${group}\n${JSON.stringify(found.name)}`, edges }
}

const rootNameOf = (ref: Ref): RootName | undefined => {
  if (ref.kind === 'call') return { kind: 'call', name: ref.id }
  if (ref.kind === 'object') return { kind: 'object', name: { objectId: ref.objectId, digest: ref.version } }
  const [edge] = ref.edges
  const tableDigest = ref.digest
  if (edge?.kind === 'id') return { kind: 'row', name: { tableDigest, rowDigest: edge.value } }
  if (edge?.kind === 'index' && isIndex(edge.value))
    return { kind: 'row by index', name: { tableDigest, index: Number(edge.value) } }
  return undefined
}

/** Loads roots of one kind and project. */
const loadTexts = (sources: Sources, all: readonly RootRequest[]): Promise<Texts> => {
  const [{ kind, projectId }] = all as [RootRequest]
  const names = all.map(({ name }) => name)
  switch (kind) {
    case 'object':
      return sources.objects(projectId, names as readonly ObjectVersion[])
    case 'row':
      return sources.rows(projectId, names as readonly RowOfTable[])
    case 'row by index':
      return sources.rowsByIndex(projectId, names as readonly RowAtIndex[])
    case 'call':
      return sources.calls(projectId, names as readonly string[])
  }
}
