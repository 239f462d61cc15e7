//! The tables in a store that speaks SQL.

use storebench_model::store::sql::{BulkLoad, MOST_COLUMNS, SqlSession, SqlValue, StatementId};
use storebench_model::store::{Result, StoreError};

use super::chunk::{Chunk, ChunkSource};
use super::schema::{self, INDEX, Table};
use super::tables::{PurchaseRequest, ReadBuffer, Tables};

/// About the bytes of rows loaded at once: a transaction of some engines, whose log holds it whole.
const BULK_BYTES: usize = 64 << 20;

pub(crate) struct SqlTables<'s> {
    session: Box<dyn SqlSession + 's>,
    statements: Option<Statements>,
    indexed: bool,
    /// Whether rows are loaded in key order.
    sorted: bool,
}

#[derive(Clone, Copy)]
struct Statements {
    customer: StatementId,
    orders: StatementId,
    product: StatementId,
    insert: StatementId,
    update: StatementId,
}

const UPDATE_STOCK: &str = "UPDATE products SET quantity = quantity + ? WHERE product_id = ?";
const SELECT_ENTRIES: &str = "SELECT customer_id, order_id FROM orders ORDER BY customer_id, order_id";

impl<'s> SqlTables<'s> {
    pub fn make(mut session: Box<dyn SqlSession + 's>, indexed: bool, sorted: bool) -> Result<SqlTables<'s>> {
        for table in Table::ALL {
            let sql = table.schema(|sql_type| session.type_name(sql_type));
            session.execute(&sql)?;
        }
        Ok(SqlTables { session, statements: None, indexed, sorted })
    }

    /// Opens existing tables, for transactions.
    pub fn open(mut session: Box<dyn SqlSession + 's>, indexed: bool) -> Result<SqlTables<'s>> {
        let statements = Statements {
            customer: session.prepare(&Table::Customers.select_by("customer_id"))?,
            orders: session.prepare(&Table::Orders.select_by("customer_id"))?,
            product: session.prepare(&Table::Products.select_by("product_id"))?,
            insert: session.prepare(&Table::Orders.insert())?,
            update: session.prepare(UPDATE_STOCK)?,
        };
        Ok(SqlTables { session, statements: Some(statements), indexed, sorted: false })
    }

    fn statements(&self) -> Result<Statements> {
        self.statements.ok_or_else(|| StoreError::Engine("the statements are not prepared".into()))
    }

    fn read_row(
        &mut self,
        table: Table,
        statement: StatementId,
        id: i64,
        read_buffer: &mut ReadBuffer,
    ) -> Result<()> {
        let mut is_missing = true;
        self.session.query(statement, &[SqlValue::Integer(id)], &mut |row| {
            is_missing = false;
            read_buffer.add(|bytes| schema::append_row(table, row, bytes));
        })?;
        if is_missing {
            read_buffer.add(|_| ());
        }
        Ok(())
    }

    fn buy_in_transaction(
        &mut self,
        statements: &Statements,
        request: &PurchaseRequest,
        read_buffer: &mut ReadBuffer,
    ) -> Result<bool> {
        self.read_row(Table::Customers, statements.customer, request.customer, read_buffer)?;
        for product in request.viewed {
            self.read_row(Table::Products, statements.product, product, read_buffer)?;
        }
        let mut order = [SqlValue::Null; MOST_COLUMNS];
        let columns = schema::read_values(Table::Orders, &request.order, &mut order).unwrap_or(0);
        let inserted = self.session.run(statements.insert, &order[..columns])?;
        let stock = [SqlValue::Integer((-request.amount).into()), SqlValue::Integer(request.product())];
        Ok(inserted == 1 && self.session.run(statements.update, &stock)? == 1)
    }
}

impl Tables for SqlTables<'_> {
    fn load(&mut self, source: &mut ChunkSource) -> Result<u64> {
        let mut bulk_loads = 0;
        while let Some(Chunk { table, .. }) = source.current() {
            let table = *table;
            let target =
                BulkLoad { table: table.name(), columns: &table.column_names(), sorted: self.sorted };
            let result = self.session.bulk_load(&target, &mut |add| {
                let mut bytes = 0;
                while let Some(chunk) = source.current().filter(|chunk| chunk.table == table) {
                    for row in chunk.rows() {
                        let mut values = [SqlValue::Null; MOST_COLUMNS];
                        let columns = schema::read_values(table, row, &mut values).unwrap_or(0);
                        add(&values[..columns])?;
                    }
                    bytes += chunk.rows.len();
                    source.advance();
                    if bytes >= BULK_BYTES {
                        break;
                    }
                }
                Ok(())
            });
            result?;
            bulk_loads += 1;
        }
        Ok(bulk_loads)
    }

    fn make_index(&mut self) -> Result<()> {
        if self.indexed { self.session.execute(INDEX) } else { Ok(()) }
    }

    fn read_orders(&mut self, customer: i64, read_buffer: &mut ReadBuffer) -> Result<()> {
        let statements = self.statements()?;
        self.read_row(Table::Customers, statements.customer, customer, read_buffer)?;
        self.session.query(statements.orders, &[SqlValue::Integer(customer)], &mut |row| {
            read_buffer.add(|bytes| schema::append_row(Table::Orders, row, bytes));
        })?;
        Ok(())
    }

    fn buy(&mut self, request: &PurchaseRequest, read_buffer: &mut ReadBuffer) -> Result<bool> {
        let statements = self.statements()?;
        self.session.begin()?;
        let result = self.buy_in_transaction(&statements, request, read_buffer);
        match result.and_then(|done| self.session.commit().map(|()| done)) {
            Ok(done) => Ok(done),
            Err(error) => {
                // Some engines have rolled back by themselves; the first error counts.
                let _ = self.session.roll_back();
                Err(error)
            }
        }
    }

    fn restock(&mut self, product: i64, amount: i32) -> Result<bool> {
        let statements = self.statements()?;
        let values = [SqlValue::Integer(amount.into()), SqlValue::Integer(product)];
        Ok(self.session.run(statements.update, &values)? == 1)
    }

    fn visit_rows(&mut self, table: Table, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let query = self.session.prepare(&table.select_all())?;
        let mut bytes = Vec::with_capacity(table.most_bytes());
        self.session.query(query, &[], &mut |row| {
            bytes.clear();
            schema::append_row(table, row, &mut bytes);
            visit(&bytes);
        })?;
        Ok(())
    }

    fn visit_entries(&mut self, visit: &mut dyn FnMut(i64, i64)) -> Result<()> {
        let query = self.session.prepare(SELECT_ENTRIES)?;
        self.session.query(query, &[], &mut |row| {
            if let [SqlValue::Integer(customer), SqlValue::Integer(order)] = row {
                visit(*customer, *order);
            }
        })?;
        Ok(())
    }

    fn check_settings(&mut self) -> Result<()> {
        self.session.check_settings()
    }
}
