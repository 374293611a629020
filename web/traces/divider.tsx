/** Between the tree and the call: dragged, or moved with the arrow keys. */
export const Divider = ({
  percent,
  onPercent,
}: {
  /** What the tree has of the width. */
  readonly percent: number
  readonly onPercent: (percent: number) => void
}) => {
  const set = (next: number) => onPercent(Math.round(Math.min(80, Math.max(25, next))))
  return (
    <div
      className="divider"
      role="separator"
      tabIndex={0}
      aria-label="Width of the tree"
      aria-orientation="vertical"
      aria-valuemin={25}
      aria-valuemax={80}
      aria-valuenow={percent}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
        const { left, width } = event.currentTarget.parentElement!.getBoundingClientRect()
        set(((event.clientX - left) / width) * 100)
      }}
      onDoubleClick={() => set(60)}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') set(percent - 5)
        if (key === 'ArrowRight') set(percent + 5)
      }}
    />
  )
}
