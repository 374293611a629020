const OP_REF = /^[a-z-]+:\/\/\/[^/]+\/[^/]+\/op\/([^:]+):/

/** The op's name without its version: the name inside a reference, or the whole text if it is none. */
export const opOf = (opName: string): string => OP_REF.exec(opName)?.[1] ?? opName

export const isOpRef = (opName: string): boolean => OP_REF.test(opName)
