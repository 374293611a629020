const NAME_INSIDE = /^[a-z-]+:\/\/\/[^/]+\/[^/]+\/op\/([^:]+):/

/** The op's name inside its reference, or the whole where it is none. */
export const opOf = (opName: string): string => NAME_INSIDE.exec(opName)?.[1] ?? opName

/**
 * What the ops are called that a filter's `op_names` may mean, whatever their versions; undefined where that can't be
 * told, since one means every name that begins in some way.
 */
export const opsMeantBy = (opNames: readonly string[]): readonly string[] | undefined => {
  const ops = new Set<string>()
  for (const name of opNames) {
    const isEveryVersion = name.endsWith(':*')
    if (isEveryVersion && !NAME_INSIDE.test(name)) return undefined
    if (!isEveryVersion) ops.add(name)
    ops.add(opOf(name))
  }
  return [...ops]
}
