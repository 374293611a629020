// Names the packages that a program has loaded when it ends.
process.on('exit', () => {
  const loaded = new Set(
    Object.keys(require.cache).flatMap((path) => path.match(/node_modules\/(@aws-sdk\/[^/]+)/)?.[1] ?? []),
  )
  process.stderr.write(`loaded: ${[...loaded].join(' ')}.\n`)
})
