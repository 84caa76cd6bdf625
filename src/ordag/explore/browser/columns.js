export function createColumns() {}
